/* Puts a file through one of the functions of mhc-c/Compiler.h and prints what it makes.

   usage: mhc-capi-test rewrite|join|read FILE [differentiate] [chain] [model] */

#include "mhc-c/Compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    exit(2);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  if (!text || fread(text, 1, *size, file) != *size)
    exit(2);
  fclose(file);
  return text;
}

static int has(int argc, char **argv, const char *word) {
  for (int i = 3; i < argc; ++i)
    if (!strcmp(argv[i], word))
      return 1;
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  size_t size = 0;
  char *graph = contents(argv[2], &size), *text = NULL;
  int failed = 1;
  if (!strcmp(argv[1], "rewrite"))
    failed = mhc_rewrite_graph(graph, size, has(argc, argv, "differentiate"), has(argc, argv, "chain"), &text);
  else if (!strcmp(argv[1], "join"))
    failed = mhc_join_graph(graph, size, has(argc, argv, "model"), !has(argc, argv, "apart"), &text);
  else
    failed = mhc_read_graph(graph, size, &text);
  fputs(text, failed ? stderr : stdout);
  mhc_free_text(text);
  free(graph);
  return failed;
}
