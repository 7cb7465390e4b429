# The book in a container. Build it once, then read it or check it:
#
#   docker build -t glassformer .
#   docker run --rm -p 8000:8000 glassformer
#   docker run --rm --ipc=host glassformer make test
#
# `--build-arg TORCH_INDEX=ADDRESS` chooses PyTorch's build, as the README says.
# `.devcontainer/devcontainer.json` takes the first stage, with your own copy of the repository.
FROM python:3.11-bookworm AS tools
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium make \
    && rm -rf /var/lib/apt/lists/*
EXPOSE 8000

FROM tools
WORKDIR /book
COPY . .
ARG TORCH_INDEX
RUN make language-model
CMD ["make", "serve", "HOST=0.0.0.0"]
