// Replaces libcuda.so.1, of which the drop-in asks only whether it is loaded.

extern "C" [[gnu::visibility("default")]] int made_up_driver() { return 0; }
