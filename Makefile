# The front door. `make help` lists the targets; CMakeLists.txt holds the build itself.

# auto: CUDA where nvcc is found. off: never. on: stop without it. Taken from the command line
# only: module systems set an environment variable of this name to a folder.
CUDA = auto
PREFIX = /usr/local
JOBS = $(shell nproc 2>/dev/null || echo 2)
override cuda_option := $(shell printf '%s' '$(CUDA)' | tr '[:lower:]' '[:upper:]')
# ,quick: all is compiled in a fraction of the time, and GPU code is slow to run. For the demo and the tests alone.
quick =

ifeq ($(filter $(cuda_option),AUTO OFF ON),)
$(error CUDA=$(CUDA): say auto, off or on)
endif

.NOTPARALLEL:
.PHONY: all program build configure dependencies demo rung install package test check docs format clean help

all: program

help:
	@echo 'make               build build/bin/warpladder'
	@echo 'make build         the same, with the tests and the benchmarks'
	@echo 'make demo          install what is missing, build what a short tour needs, run it'
	@echo 'make rung R=OP/ID  build, verify and explain one rung, in seconds;'
	@echo '                   BESIDE=OP/OTHER  beside another one'
	@echo 'make install       build the program, install it, its man page and completions'
	@echo '                   below PREFIX=/usr/local'
	@echo 'make package       the same as a Debian package, build/warpladder_VERSION_ARCH.deb'
	@echo 'make test          install what is missing, build, run every test'
	@echo 'make check         only the fast checks of the house rules; builds nothing'
	@echo 'make docs          build the documents to build/docs/html (installs mkdocs there)'
	@echo 'make format        apply .clang-format to the sources'
	@echo 'make dependencies  install what the build needs; does nothing when it is all there'
	@echo 'make clean         remove build/'
	@echo 'CUDA=off           leave CUDA out;  CUDA=on  stop where there is no nvcc'
	@echo 'JOBS=N             compile N files at a time (default: one per processor)'

dependencies:
	@tools/install_dependencies.sh

# Configures only when what it depends on has changed; CMake itself follows its own files. Another
# CUDA= alone keeps the objects; another `quick`, those of the host. Another generator, compiler or
# folder starts afresh (--fresh drops the objects too), as does an nvcc that has come or gone: CMake
# remembers not having found one.
configure:
	@generator='Unix Makefiles'; \
	if command -v ninja >/dev/null 2>&1; then generator=Ninja; fi; \
	nvcc=$$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc || echo none); \
	machine="$$generator nvcc=$$nvcc CXX=$$CXX CUDACXX=$$CUDACXX in $$(pwd -P)"; \
	wanted="CUDA=$(cuda_option)$(quick) $$machine"; \
	known=$$(cat build/.configured 2>/dev/null); \
	if [ ! -f build/CMakeCache.txt ] || [ "$$wanted" != "$$known" ]; then \
	  fresh=--fresh; \
	  if [ "$$machine" = "$${known#CUDA=* }" ]; then fresh=; fi; \
	  rm -f build/.configured; \
	  cmake $$fresh -S . -B build -G "$$generator" -DCMAKE_BUILD_TYPE=Release \
	    -DWARPLADDER_CUDA=$(cuda_option) -DWARPLADDER_QUICK=$(if $(quick),ON,OFF) || { \
	    echo 'make: configuring failed; "make dependencies" installs what is missing' >&2; exit 1; }; \
	  printf '%s\n' "$$wanted" > build/.configured; \
	fi

program: configure
	@tools/build.py build warpladder --jobs $(JOBS)

# The program, the tests and the benchmarks; with nvcc, all CUDA code.
build: configure
	@tools/build.py build all --jobs $(JOBS)

install: program
	@cmake --install build --component workbench --prefix '$(PREFIX)'

package: program
	@cd build && cpack -G DEB -D CPACK_COMPONENTS_ALL=workbench

# What follows runs on the CPU: a folder that is not configured yet, or for this alone, leaves CUDA
# out unless it is asked for, and is for quick builds from its first configuration on.
cpu_alone = { [ ! -f build/.configured ] || grep -qs '^CUDA=OFF[ ,]' build/.configured; }
configured_quick = grep -qs '^CUDA=[A-Z]*,quick ' build/.configured
configure_for_cpu = cuda=$(cuda_option); if [ "$$cuda" = AUTO ] && $(cpu_alone); then cuda=OFF; fi; \
  quick=; if $(configured_quick) || { [ "$$cuda" = OFF ] && [ ! -f build/.configured ]; }; then quick=,quick; fi; \
  $(MAKE) --no-print-directory CUDA=$$cuda quick=$$quick configure

rung:
	@$(configure_for_cpu)
	@JOBS=$(JOBS) tools/rung.sh '$(R)' '$(BESIDE)'

# A new make each: what is installed first decides the generator.
demo: dependencies
	@$(configure_for_cpu)
	@tools/build.py build demo --jobs $(JOBS)
	@tools/demo.sh build/bin/demo build/demo.html

# GPU code that no GPU here would run is compiled quickly, unless the folder has optimised code already.
test: dependencies
	@quick=; if [ $(cuda_option) != OFF ] && ! command -v nvidia-smi >/dev/null 2>&1 && \
	  { $(cpu_alone) || $(configured_quick); }; then quick=,quick; fi; \
	$(MAKE) --no-print-directory quick=$$quick configure
	@tools/test.sh $(JOBS)

check:
	@status=0; for each in tools/checks/check_*.py; do python3 "$$each" . || status=1; done; \
	python3 tools/generate_tuning.py --check || status=1; \
	tools/checks/check_format.sh . || [ $$? -eq 77 ] || status=1; exit $$status

docs:
	@python3 tools/build_docs.py

format:
	@find src apps include bindings tests benchmarks tools -type f \
	  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) \
	  -print0 2>/dev/null | xargs -0 -r clang-format -i

clean:
	rm -rf build
