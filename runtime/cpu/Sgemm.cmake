# sgemm of OpenBLAS as one object, for the runtime's archive: cmake -DLIBRARY=.. -DOUT=.. -DCC=.. -DAR=.. -DNM=.. -DLD=..
# -DOBJCOPY=.. -P Sgemm.cmake
#
# For each processor OpenBLAS has a table of all its kernels (setparam_HASWELL.o and so on), so that one call of sgemm links
# 26 MB. Here the entries of other functions end in one that aborts. Nothing runs when the object is loaded: its
# initialisation takes memory for every core, and would wait for ever where there is none; matmul.cpp calls it. Other
# names are hidden, so that a program may have an OpenBLAS of its own.

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT}.dir OUTPUT_VARIABLE text ERROR_VARIABLE error
                  RESULT_VARIABLE failed)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${error}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${OUT}.dir)
file(MAKE_DIRECTORY ${OUT}.dir)
run(${AR} t ${LIBRARY})
string(REGEX MATCHALL "setparam[^\n]*" tables "${text}")
set(stubs "#include <stdlib.h>\nvoid unused_blas(void) { abort(); }\n")
if(tables)
  run(${AR} x ${LIBRARY} ${tables})
  run(${NM} -u ${tables})
  string(REGEX MATCHALL "[A-Za-z0-9_]+_[A-Z0-9]+\n" kernels "${text}") # one ends with the name of its processor
  list(FILTER kernels EXCLUDE REGEX "sgemm|^_")
  list(REMOVE_DUPLICATES kernels)
  foreach(kernel ${kernels})
    string(STRIP ${kernel} kernel)
    string(APPEND stubs "__asm__(\".globl ${kernel}\\n.set ${kernel}, unused_blas\");\n")
  endforeach()
endif()
file(WRITE ${OUT}.dir/stubs.c "${stubs}")
run(${CC} -fPIC -c stubs.c -o stubs.o)
run(${LD} -r -u cblas_sgemm -o whole.o stubs.o ${LIBRARY})
run(${OBJCOPY} -w --remove-section=.init_array* --remove-section=.rela.init_array* --strip-unneeded
    --keep-global-symbol=cblas_sgemm --keep-global-symbol=gotoblas_init
    --keep-global-symbol=openblas_set_num_threads whole.o ${OUT})
file(REMOVE_RECURSE ${OUT}.dir)
