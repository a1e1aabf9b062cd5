import pytest

from headwater.errors import EngineError
from headwater.spark.janino import install, load_class, new_instance

pytestmark = pytest.mark.spark

GREETER = """
package headwater.tests;
public class Greeter {
    public String greet(String name) { return "hello " + name; }
}
"""
INSTALLED = GREETER.replace("Greeter", "Installed")


def test_a_class_is_compiled_once_and_runs(spark):
    context = spark.sparkContext
    greeter = load_class(context, GREETER, "headwater.tests.Greeter")
    assert new_instance(greeter, context).greet("you") == "hello you"
    assert load_class(context, GREETER, "headwater.tests.Greeter") == greeter


def test_what_cannot_be_compiled_is_said_in_one_line(spark):
    with pytest.raises(EngineError, match="Unknown") as caught:
        load_class(spark.sparkContext, "public class Bad { Unknown x; }", "Bad")
    assert "\n" not in caught.value.message


def test_installed_classes_are_found_by_name_on_driver_and_executors(spark):
    context = spark.sparkContext
    jar = install(context, INSTALLED, executors=True)
    assert install(context, INSTALLED) == jar
    assert jar.parent.stat().st_mode & 0o077 == 0
    found = context._jvm.org.apache.spark.util.Utils.classForName("headwater.tests.Installed", True, False)
    assert new_instance(found, context).greet("all") == "hello all"
    assert any(jar.name in str(path) for path in context._jsc.sc().listJars().mkString(",").split(","))


def test_classes_of_the_same_name_on_the_class_path_are_not_taken(spark):
    context = spark.sparkContext
    pair = """
    package headwater.tests;
    public class %s { public String greet(String name) { return new Helper().word() + name; } }
    class Helper { String word() { return "%s "; } }
    """
    install(context, pair % ("Packed", "packed"))
    loaded = load_class(context, pair % ("Loaded", "loaded"), "headwater.tests.Loaded")
    assert new_instance(loaded, context).greet("you") == "loaded you"
