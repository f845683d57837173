// SystemC 2.3.4 keeps part of a simulation context for the life of the process; tests build one per
// world. The leak checker of the asan build is told so, for that one function of the library.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:sc_core::sc_simcontext::init\n";
}
