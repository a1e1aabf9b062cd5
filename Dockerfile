# The server and the harvest in an image, without Spark:
#   make build
#   docker build -t headwater .
#   docker run -p 8420:8420 -e HEADWATER_TOKEN=… -v "$PWD/warehouse:/warehouse" headwater
#   docker run -v "$PWD:/sql:ro" -v "$PWD/warehouse:/warehouse" headwater harvest /sql
FROM python:3.13-slim

# A user of its own: nothing here needs root, and the server takes requests of others.
RUN useradd --create-home --uid 1000 headwater && install --directory --owner=headwater /warehouse
COPY dist/headwater-*.whl /tmp/
# hadolint ignore=DL3013
RUN for wheel in /tmp/headwater-*.whl; do pip install --no-cache-dir "${wheel}[lake,cloud,mcp]"; done && rm /tmp/headwater-*.whl

USER 1000
# ZetaSQL is compiled once, when the image is made: a container then starts it in half a second.
RUN headwater warmup zetasql
ENV HEADWATER_WAREHOUSE=/warehouse
WORKDIR /warehouse
VOLUME /warehouse
EXPOSE 8420
ENTRYPOINT ["headwater"]
CMD ["serve", "--host", "0.0.0.0"]
