# `cmake --install`: the programs, the headers and libraries of the runtime and of the compiler, and the package that
# find_package(mhc) reads. The programs look for the runtime in ../lib, so that is the folder on Debian too.
include(CMakePackageConfigHelpers)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # what is installed is built, tests need not be

set(compiler_programs mhcc mhc-opt mhc-lsp-server mhc-reduce mhc-bench)
install(TARGETS ${compiler_programs} mhc-run mhc-train RUNTIME DESTINATION bin)
set_target_properties(${compiler_programs} PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})

# install_libraries(EXPORT PREFIX TARGET...): libraries, whose names in the package are without PREFIX: MhcIR is mhc::IR,
# mhcrt_io is mhc::rt_io.
function(install_libraries export prefix)
  foreach(target ${ARGN})
    string(REGEX REPLACE "^${prefix}" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  endforeach()
  install(TARGETS ${ARGN} EXPORT ${export} ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
  install(EXPORT ${export} NAMESPACE mhc:: DESTINATION lib/cmake/mhc)
endfunction()

set(runtime mhcrt mhcrt_io mhcrt_run mhcrt_train)
if(TARGET mhcrt_cuda)
  list(APPEND runtime mhcrt_cuda)
endif()
install_libraries(mhcRuntimeTargets mhc ${runtime})
if(TARGET mhcrt_mpi)
  install(TARGETS mhcrt_mpi LIBRARY DESTINATION lib)
endif()
install(DIRECTORY runtime/include/mhcrt DESTINATION include)

set(folders IR Analysis Algebra Transforms Conversion Pipelines)
set(compiler MhcInitAll)
foreach(folder ${folders})
  list(APPEND compiler Mhc${folder})
  install(DIRECTORY include/mhc/${folder} DESTINATION include/mhc FILES_MATCHING PATTERN *.h PATTERN *.td)
  if(EXISTS ${PROJECT_BINARY_DIR}/include/mhc/${folder})
    install(DIRECTORY ${PROJECT_BINARY_DIR}/include/mhc/${folder} DESTINATION include/mhc
            FILES_MATCHING PATTERN *.h.inc PATTERN CMakeFiles EXCLUDE)
  endif()
endforeach()
install_libraries(mhcCompilerTargets Mhc ${compiler})
install(FILES include/mhc/InitAll.h DESTINATION include/mhc)

configure_package_config_file(cmake/mhcConfig.cmake.in ${PROJECT_BINARY_DIR}/mhcConfig.cmake
  INSTALL_DESTINATION lib/cmake/mhc NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what users see.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mhcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mhcConfig.cmake ${PROJECT_BINARY_DIR}/mhcConfigVersion.cmake
        DESTINATION lib/cmake/mhc)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/mhc)
