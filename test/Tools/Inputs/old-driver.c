// A CUDA driver that is too old: it says its version, and has nothing else.

int cuInit(unsigned flags) { return 0; }

int cuDriverGetVersion(int *version) {
  *version = 11040;
  return 0;
}
