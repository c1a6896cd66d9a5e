# slmsim in a container of Debian 12:
#
#     docker build -t slmsim .
#     docker run --rm -v "$PWD:/work" slmsim run gat-amst

# Stage 1 makes the Debian package.
FROM debian:12-slim AS build
# build_packages and package_packages of scripts/setup.sh, in a layer that edits of the sources leave as it is.
RUN apt-get update && apt-get install -y --no-install-recommends \
    build-essential cmake ninja-build pkg-config libsimgrid-dev libyaml-cpp-dev \
    libboost-graph-dev libeigen3-dev libcli11-dev libfmt-dev nlohmann-json3-dev coinor-libcbc-dev \
    libcpp-httplib-dev \
    file \
    && rm -rf /var/lib/apt/lists/*
COPY . /slmsim
RUN /slmsim/scripts/package.sh

# Stage 2 installs it: apt brings the libraries that it depends on.
FROM debian:12-slim
COPY --from=build /slmsim/build/package/ /tmp/package/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/package/slmsim_*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/package
# Mount the folder with your scenarios here.
WORKDIR /work
ENTRYPOINT ["slmsim"]
CMD ["--help"]
