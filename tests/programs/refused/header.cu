#include <cusparse.h>
int main() {}
