// The way from Spark's JVM to the driver's Python. Compiled at run time by Spark's own Janino, as the files beside it:
// Java 8, raw types, no lambdas.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;

/** Requests and answers are JSON. */
public final class Door {
  static final ObjectMapper JSON = new ObjectMapper();
  private static volatile Function python;

  public static void open(Function function) {
    python = function;
  }

  static ObjectNode request(String operation, Map options) {
    ObjectNode request = JSON.createObjectNode();
    request.put("op", operation);
    ObjectNode given = request.putObject("options");
    for (Iterator each = options.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry entry = (Map.Entry) each.next();
      given.put((String) entry.getKey(), (String) entry.getValue());
    }
    return request;
  }

  static JsonNode ask(ObjectNode request) {
    if (python == null) {
      throw new IllegalStateException("Headwater is not connected: call headwater.spark.connect(spark, warehouse)");
    }
    JsonNode answer;
    try {
      answer = JSON.readTree((String) python.apply(JSON.writeValueAsString(request)));
    } catch (java.io.IOException error) {
      throw new IllegalStateException(error);
    }
    if (answer.has("error")) {
      throw new Refused(answer.get("error").asText(), answer.get("message").asText());
    }
    return answer;
  }
}

/** An error that Python has answered with. */
final class Refused extends IllegalArgumentException {
  final String code;

  Refused(String code, String message) {
    super("[" + code + "] " + message);
    this.code = code;
  }
}
