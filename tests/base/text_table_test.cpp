#include "base/text_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

#include "base/file_descriptor.hpp"

namespace warpladder {
namespace {

constexpr TableFormat kBoxed{.style = Style::boxed};
constexpr TableFormat kMarkdown{.style = Style::markdown};

TextTable small_table() {
  TextTable table({{"rung"}, {"time", Align::right}});
  table.add_row({"naïve", "12.5"});
  table.add_row({"tiled", "3"});
  return table;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TextTable, DrawsABox) {
  EXPECT_EQ(small_table().render(kBoxed),
            "┌───────┬──────┐\n"
            "│ rung  │ time │\n"
            "├───────┼──────┤\n"
            "│ naïve │ 12.5 │\n"
            "│ tiled │    3 │\n"
            "└───────┴──────┘\n");
}

TEST(TextTable, WritesMarkdown) {
  EXPECT_EQ(small_table().render(kMarkdown),
            "| rung  | time |\n"
            "| ----- | ---: |\n"
            "| naïve | 12.5 |\n"
            "| tiled |    3 |\n");
}

TEST(TextTable, MarkdownEscapesWhatWouldBreakARow) {
  TextTable table({{"a"}, {"b"}});
  table.add_row({"x|y", "1\n2"});
  EXPECT_EQ(table.render(kMarkdown),
            "| a    | b      |\n"
            "| ---- | ------ |\n"
            "| x\\|y | 1<br>2 |\n");
}

TEST(TextTable, RulesStandBetweenGroupsOnly) {
  TextTable table({{"a"}});
  table.add_rule();
  table.add_row({"1"});
  table.add_rule();
  table.add_rule();
  table.add_row({"2"});
  table.add_rule();
  EXPECT_EQ(table.render(kBoxed), "┌───┐\n│ a │\n├───┤\n│ 1 │\n├───┤\n│ 2 │\n└───┘\n");
  EXPECT_EQ(table.render(kMarkdown), "| a   |\n| --- |\n| 1   |\n| 2   |\n");
}

TEST(TextTable, ATableWithoutRowsIsItsHeader) {
  const TextTable table({{"a"}});
  EXPECT_EQ(table.render(kBoxed), "┌───┐\n│ a │\n└───┘\n");
  EXPECT_EQ(table.render(kMarkdown), "| a   |\n| --- |\n");
}

TEST(TextTable, LongTextWrapsAtSpaces) {
  TextTable table({{"rung"}, {"idea"}, {"ms", Align::right}});
  table.add_row({"one", "each thread computes one element", "1.25"});
  TableFormat format = kBoxed;
  format.max_width = 29;
  EXPECT_EQ(table.render(format),
            "┌──────┬─────────────┬──────┐\n"
            "│ rung │ idea        │   ms │\n"
            "├──────┼─────────────┼──────┤\n"
            "│ one  │ each thread │ 1.25 │\n"
            "│      │ computes    │      │\n"
            "│      │ one element │      │\n"
            "└──────┴─────────────┴──────┘\n");
}

TEST(TextTable, FitsEveryWidthThatItsNumbersAllow) {
  TextTable table({{"a long header here"}, {"words and words"}, {"n", Align::right}});
  table.add_row({std::string(70, 'x') + " tail", "some words that wrap", "123.456 ms"});
  for (std::size_t width = 120; width >= 44; --width) {
    TableFormat format = kBoxed;
    format.max_width = width;
    const std::string box = table.render(format);
    EXPECT_LE(widest_line(box), width) << box;
    EXPECT_TRUE(contains(box, "123.456 ms")) << box;
  }
  TableFormat narrow = kBoxed;
  narrow.max_width = 1;  // impossible: as narrow as it goes, and nothing lost
  EXPECT_TRUE(contains(table.render(narrow), "123.456 ms"));
}

TEST(TextTable, CutsWordsBetweenCodePoints) {
  TextTable table({{"a"}});
  table.add_row({"ααααααααααααααααββββ"});
  TableFormat format = kBoxed;
  format.max_width = 20;
  EXPECT_EQ(table.render(format),
            "┌──────────────────┐\n"
            "│ a                │\n"
            "├──────────────────┤\n"
            "│ αααααααααααααααα │\n"
            "│ ββββ             │\n"
            "└──────────────────┘\n");
}

TEST(TextTable, HeadersOfNumbersWrapToo) {
  TextTable table({{"speed-up over the CPU", Align::right}});
  table.add_row({"3 x"});
  TableFormat format = kBoxed;
  format.max_width = 12;
  EXPECT_EQ(table.render(format),
            "┌──────────┐\n"
            "│ speed-up │\n"
            "│ over the │\n"
            "│      CPU │\n"
            "├──────────┤\n"
            "│      3 x │\n"
            "└──────────┘\n");
}

TEST(TextTable, ColourLeavesTheLayoutAlone) {
  TextTable table({{"a"}});
  table.add_row({{"ok", Emphasis::good}});
  table.add_row({{"wrong", Emphasis::bad}});
  table.add_row({{"skip", Emphasis::dim}});
  TableFormat coloured = kBoxed;
  coloured.colour = true;
  EXPECT_EQ(table.render(coloured),
            "┌───────┐\n│ a     │\n├───────┤\n"
            "│ \x1b[32mok\x1b[0m    │\n"
            "│ \x1b[31mwrong\x1b[0m │\n"
            "│ \x1b[2mskip\x1b[0m  │\n"
            "└───────┘\n");
  EXPECT_FALSE(contains(table.render(kBoxed), "\x1b"));
  coloured.style = Style::markdown;
  EXPECT_FALSE(contains(table.render(coloured), "\x1b"));
}

TEST(TextTable, AVeryNarrowBoxHasNoBlanks) {
  TextTable table({{"n", Align::right}, {"m", Align::right}});
  table.add_row({"12345", "678"});
  const TableFormat fits{.style = Style::boxed, .max_width = 15};
  EXPECT_TRUE(contains(table.render(fits), "│ 12345 │ 678 │"));
  const TableFormat narrow{.style = Style::boxed, .max_width = 14};
  EXPECT_TRUE(contains(table.render(narrow), "│12345│678│"));
  EXPECT_TRUE(contains(table.render(narrow), "┌─────┬───┐"));
}

TEST(TextTable, AWrongNumberOfCellsIsAMistakeOfTheCaller) {
  TextTable table({{"a"}, {"b"}});
  EXPECT_THROW(table.add_row({"1"}), std::logic_error);
  EXPECT_THROW(table.add_row({"1", "2", "3"}), std::logic_error);
  EXPECT_THROW(TextTable({}), std::logic_error);
}

TEST(TableFormat, FollowsTheTerminalAndNoColor) {
  EXPECT_EQ(choose_table_format(true, nullptr, "xterm").style, Style::boxed);
  EXPECT_TRUE(choose_table_format(true, nullptr, "xterm").colour);
  EXPECT_TRUE(choose_table_format(true, "", "xterm").colour);
  EXPECT_FALSE(choose_table_format(true, "1", "xterm").colour);
  EXPECT_EQ(choose_table_format(true, "1", "xterm").style, Style::boxed);
  EXPECT_TRUE(choose_table_format(true, nullptr, nullptr).colour);
  EXPECT_FALSE(choose_table_format(true, nullptr, "dumb").colour);
  EXPECT_EQ(choose_table_format(false, nullptr, "xterm").style, Style::markdown);
  EXPECT_FALSE(choose_table_format(false, nullptr, "xterm").colour);

  const FileDescriptor null(::open("/dev/null", O_WRONLY));
  EXPECT_EQ(table_format_for(null.get()).style, Style::markdown);
}

TEST(DisplayWidth, CountsCodePoints) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs ε·Σ│"), 7u);
}

}  // namespace
}  // namespace warpladder
