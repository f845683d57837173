// SystemC's library wants this symbol; programs here have their own main and start SystemC
// themselves.
extern "C" int sc_main(int, char**) { return 1; }
