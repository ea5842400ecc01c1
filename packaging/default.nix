# nix-build -E '(import <nixpkgs> {}).callPackage ./packaging {}'
{ lib, stdenv, capstone, coreutils, elfutils, esbuild, glibc, libedit, libiberty
, libmicrohttpd, nettle, pcre2, protobufc, sqlite, xxHash, xz, zlib, zstd }:

stdenv.mkDerivation {
  pname = "gnomon";
  version = "0.2.0";
  src = lib.cleanSource ../.;

  nativeBuildInputs = [ esbuild protobufc ];
  # The recorder is static: it runs where there may be no library.
  buildInputs = [
    capstone
    elfutils
    glibc.static
    libedit
    libiberty
    libmicrohttpd
    nettle
    pcre2
    protobufc
    sqlite
    xxHash
    xz
    zlib
    (zstd.override { static = true; })
  ];

  # What runs in the target must not need what hardening brings.
  hardeningDisable = [ "all" ];
  enableParallelBuilding = true;
  makeFlags = [ "PACKAGES_TOOL=${coreutils}/bin/true" "prefix=$(out)" ];
  # It has no other library than those by its path.
  dontPatchELF = true;

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/gnomon run -f -o check.trace -- ls / >/dev/null
    $out/bin/gnomon report check.trace | grep -q allocations
  '';

  meta = {
    description = "Heap profiler with exact stacks";
    license = lib.licenses.mit;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "gnomon";
  };
}
