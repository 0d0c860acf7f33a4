"""Tests of tools/generate_tables.py: the table of what `explain` counts."""

import json
import unittest
from unittest import mock

from test_generate_tables import Documents

import explained  # behind it, which says where the tools are


class CountsTable(Documents):
    """`explain` is played by numbers made up here."""

    def table(self, place="at 64", **totals):
        """What is generated for two rungs, of which the second alone has these totals."""
        none = dict.fromkeys(("global_load_sectors", "global_store_sectors", "barriers", "shuffles",
                              "shared_load_wavefronts", "shared_store_wavefronts", "fmas", "bulk_bytes",
                              "tensor_fmas"), 0)

        def of(rung, command):
            one = {"totals": {**none, **totals} if rung.endswith("02") else none,
                   "global_load": {"lanes": 31.25, "sectors": 4.04, "ideal_sectors": 4}}
            if "--matrix" not in command:
                one["prediction"] = {"holds": rung.endswith("02")}
            return one

        def explain(command, **_):
            self.asked = command[4:-2]
            rungs = [of(rung, command) for rung in command[2:4]]
            return mock.Mock(returncode=0, stdout=json.dumps({"rungs": rungs}))

        explained.KNOWN.clear()
        with mock.patch.object(explained.subprocess, "run", explain):
            return self.generated(f"<!-- counts: op/01 op/02 {place} -->\n<!-- end -->\n")

    def test_a_variant_is_asked_for(self):
        self.table()
        self.assertEqual(self.asked, ["--shape", "64"])
        self.table(place="at 64x32, col_t")
        self.assertEqual(self.asked, ["--shape", "64x32", "--variant", "col_t"])

    def test_an_operator_that_moves_bytes(self):
        self.assertIn("""
| rung | global sectors | shared wavefronts | barriers | prediction |
| :-- | --: | --: | --: | --: |
| `01` | 0 | 0 | 0 | differs |
| `02` | 1,200 | 34 | 5 | holds |
<!""", self.table(global_load_sectors=1000, global_store_sectors=200, shared_load_wavefronts=30,
                  shared_store_wavefronts=4, barriers=5))

    def test_shuffles_have_a_column_where_there_are_some(self):
        self.assertIn("""
| rung | global sectors | shared wavefronts | barriers | shuffles | prediction |
| :-- | --: | --: | --: | --: | --: |
| `01` | 0 | 0 | 0 | 0 | differs |
| `02` | 16 | 0 | 0 | 4,000 | holds |
<!""", self.table(global_load_sectors=16, shuffles=4000))

    def test_products_are_set_against_what_they_load(self):
        self.assertIn("""
| rung | global sectors | shared wavefronts | barriers | FMAs per sector | FMAs per wavefront | prediction |
| :-- | --: | --: | --: | --: | --: | --: |
| `01` | 0 | 0 | 0 |  |  | differs |
| `02` | 10 | 4 | 0 | 10.0 | 25.0 | holds |
<!""", self.table(global_store_sectors=10, shared_load_wavefronts=4, fmas=100))

    def test_the_copy_engine_and_the_tensor_cores_have_columns_where_there_is_something(self):
        self.assertIn("""
| rung | global sectors | shared wavefronts | barriers | copy engine bytes | tensor core FMAs | prediction |
| :-- | --: | --: | --: | --: | --: | --: |
| `01` | 0 | 0 | 0 | 0 | 0 | differs |
| `02` | 8 | 0 | 0 | 4,096 | 65,536 | holds |
<!""", self.table(global_store_sectors=8, bulk_bytes=4096, tensor_fmas=65536))

    def test_a_matrix_without_a_shape(self):
        """No prediction, but the lanes and the sectors of a load."""
        table = self.table("on rmat:scale=4,edge=2", global_load_sectors=16, fmas=5, barriers=3)
        self.assertEqual(self.asked, ["--matrix", "rmat:scale=4,edge=2"])
        self.assertIn("""
| rung | global sectors | lanes per load | sectors per load | shared wavefronts | barriers | shuffles |
| :-- | --: | --: | --: | --: | --: | --: |
| `01` | 0 | 31.2 | 4.0 | 0 | 0 | 0 |
| `02` | 16 | 31.2 | 4.0 | 0 | 3 | 0 |
<!""", table)


if __name__ == "__main__":
    unittest.main()
