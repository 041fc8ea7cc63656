# `./dev package`: what is installed as a Debian package and as an archive.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and kernels for manifold-constrained hyper-connections (mHC)")
set(CPACK_PACKAGE_VENDOR "The mhc project")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CPACK_PACKAGE_VENDOR})
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# mhcc links models with the system's C++ compiler; libhwy is in every model for the CPU. libLLVM is found through a link
# in LLVM's folder, which is in a package without dependency information: dpkg-shlibdeps then takes it or leaves it out.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ | c++-compiler, libhwy-dev, libllvm${LLVM_VERSION_MAJOR}")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmlir-22-dev, mlir-22-tools, zlib1g-dev") # for find_package
include(CPack)
