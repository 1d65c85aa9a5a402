"""What the tests of the Iceberg engines share: a server, and a client of each engine on it."""
import glob, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = os.path.join(HERE, "..", "..", ".engines")
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import Server

import duckdb, duckdb_extension_iceberg
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from pyiceberg.catalog import load_catalog
from pyspark.sql import SparkSession

BASE = os.path.dirname(os.path.dirname(duckdb_extension_iceberg.__file__))
EXTENSIONS = {name: glob.glob(f"{BASE}/duckdb_extension_{name}/**/{name}.duckdb_extension", recursive=True)[0]
              for name in ("httpfs", "avro", "iceberg")}


class House:
    """A server with a namespace `db`, and its clients."""

    def __init__(self, work):
        self.work = work
        self.server = Server(os.path.join(work, "data")).start()
        self.uri = f"http://127.0.0.1:{self.server.port}/iceberg"
        self.catalog = self.pyiceberg()
        self.catalog.create_namespace("db")

    def pyiceberg(self):
        return load_catalog("tarn", type="rest", uri=self.uri, token=self.server.token)

    def duckdb(self):
        con = duckdb.connect()
        for file in EXTENSIONS.values():
            con.execute(f"LOAD '{file}'")
        con.execute(f"CREATE SECRET (TYPE iceberg, TOKEN '{self.server.token}')")
        con.execute(f"ATTACH 'lake' AS lake (TYPE iceberg, ENDPOINT '{self.uri}')")
        return con

    def spark(self):
        """A session of its own: a catalog that a session has opened stays that server's."""
        session = (SparkSession.builder.master("local[2]").config("spark.jars", glob.glob(f"{ENGINES}/spark/*.jar")[0])
                   .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
                   .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
                   .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
                   .config("spark.sql.shuffle.partitions", "1").config("spark.sql.warehouse.dir", self.work + "/none")
                   .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
                   .getOrCreate().newSession())
        session.sparkContext.setLogLevel("ERROR")
        for key, value in (("", "org.apache.iceberg.spark.SparkCatalog"), (".type", "rest"), (".uri", self.uri),
                           (".token", self.server.token)):
            session.conf.set("spark.sql.catalog.lake" + key, value)
        return session

    def files(self):
        return [os.path.join(at, name) for at, _, names in os.walk(os.path.join(self.work, "data", "lake")) for name in names]

    def flink(self):
        """A session as a function: a statement in, its rows out. Its JVM lives as long as the test; statements that write wait."""
        jars = glob.glob(f"{ENGINES}/flink/*.jar") + glob.glob(f"{ENGINES}/rck/hadoop-client-*.jar")
        opens = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.util")]
        port = launch_gateway(classpath=":".join(jars), javaopts=["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *opens],
                              die_on_exit=True)
        java = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True)).jvm
        settings = java.org.apache.flink.configuration.Configuration()
        for key, value in (("parallelism.default", "1"), ("table.dml-sync", "true"), ("execution.runtime-mode", "batch")):
            settings.setString(key, value)
        api = java.org.apache.flink.table.api
        session = api.TableEnvironment.create(api.EnvironmentSettings.newInstance().withConfiguration(settings).build())

        def sql(statement):
            rows, answer = session.executeSql(statement).collect(), []
            while rows.hasNext():
                row = rows.next()
                answer.append(tuple(row.getField(n) for n in range(row.getArity())))
            return answer
        return sql

    def clickhouse(self, *statements):
        """What each statement answers, as rows, or the text of its refusal; in a process of its own: the engine is the whole of it,
        and reads local files below its working folder alone."""
        script = ("import json, sys; from chdb.session import Session; session = Session()\n"
                  "def ask(s):\n"
                  "    try: return json.loads(str(session.query(s, 'JSONCompact')) or '{}').get('data', [])\n"
                  "    except Exception as e: return str(e)\n"
                  "print(json.dumps([ask(s) for s in json.load(sys.stdin)]))")
        told = subprocess.run([sys.executable, "-c", script], input=json.dumps(statements), capture_output=True, text=True, timeout=120,
                              cwd=self.work)
        assert told.returncode == 0, told.stderr
        return json.loads(told.stdout)
