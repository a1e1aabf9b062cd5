package headwater.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headwater.plan.PlanDump;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.*;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * The listener for jobs without Python: `spark.extraListeners=headwater.agent.Listener`.
 *
 * What happens is noted as for Python (Bridge), and a thread writes each run down when it has ended: its plans, and what
 * the visitors ask of them (Recorder). A run is one JSON object, posted to `headwater serve` or appended to a file in a
 * spool folder, where Python makes events of it (replay.py). Nothing here fails or holds up a job: the queue, the time
 * and size of a plan, the tries of a post and the size of a spool file are bounded, and what is lost is counted.
 */
public class Listener extends Bridge implements Runnable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_OPEN = 500;
    private static final int TRIES = 3;
    private static final java.util.List PLAIN = java.util.Arrays.asList(new String[] {
        "spark.master", "spark.app.name", "spark.submit.deployMode", "spark.driver.host"
    });

    private final SparkConf conf;
    private final String sink;
    private final int characters;
    private final long milliseconds;
    private final long spoolBytes;
    private final long flush;
    private final Map open = new LinkedHashMap(); // root execution → its notes
    private final Map roots = new HashMap(); // execution → root
    private final Map dumps = new HashMap(); // execution → the dump of its plan
    private final Map said = new HashMap(); // stream → when a batch of it was last sent
    private final Map streams = new LinkedHashMap(); // stream → what was last sent of it; its start comes first
    private ObjectNode application;
    private long dropped;
    private boolean begun;
    private volatile long handled;

    public Listener(SparkConf conf) {
        this.conf = conf;
        sink = conf.get("spark.headwater.sink", "spool:headwater-spool");
        characters = conf.getInt("spark.headwater.characters", 4000000);
        milliseconds = (long) (conf.getDouble("spark.headwater.seconds", 5.0) * 1000);
        spoolBytes = conf.getLong("spark.headwater.spool_bytes", 268435456L);
        flush = (long) (conf.getDouble("spark.headwater.flush_seconds", 10.0) * 1000);
        open(null, conf.getInt("spark.headwater.queue", 1000), flush, 0, null);
        Thread thread = new Thread(this, "headwater-listener");
        thread.setDaemon(true);
        thread.start();
    }

    /** How many happenings have been dealt with. */
    public long handled() { return handled; }

    /** Work on RDDs is not reported: its chain of RDDs stays here. */
    public void onJobStart(SparkListenerJobStart event) {
        if (isOfQuery(event)) super.onJobStart(event);
    }

    public void onJobEnd(SparkListenerJobEnd event) { }

    public void onApplicationStart(SparkListenerApplicationStart event) {
        try {
            about(event.appName(), String.valueOf(event.appId().isDefined() ? event.appId().get() : ""), event.sparkUser(), event.time());
        } catch (Throwable ours) {
            dropped++;
        }
    }

    private synchronized ObjectNode about(String name, String id, String user, long time) {
        ObjectNode found = JSON.createObjectNode();
        found.put("name", name).put("id", id).put("user", user).put("time", time);
        found.put("version", org.apache.spark.package$.MODULE$.SPARK_VERSION());
        found.put("run", conf.get("spark.openlineage.applicationRunId", UUID.randomUUID().toString()));
        ObjectNode settings = found.putObject("conf");
        scala.Tuple2[] all = conf.getAll();
        for (int at = 0; at < all.length; at++) {
            String key = (String) all[at]._1();
            boolean ours = key.startsWith("spark.openlineage.") || key.startsWith("spark.headwater.");
            boolean secret = key.indexOf(".auth.") > 0 || key.indexOf(".properties.") > 0 || key.indexOf("ssl") > 0;
            if (ours && !secret || PLAIN.contains(key)) settings.put(key, Recorder.masked((String) all[at]._2()));
        }
        application = found;
        return found;
    }

    /** The application; one that had started before this listener came is known by its configuration. */
    private synchronized ObjectNode application() {
        if (application != null) return application;
        String id = conf.get("spark.app.id", "application");
        return about(conf.get("spark.app.name", id), id, System.getProperty("user.name"), System.currentTimeMillis());
    }

    public void run() {
        boolean running = true;
        while (running) {
            try {
                String text = poll(500);
                if (text == null) continue;
                ObjectNode note = (ObjectNode) JSON.readTree(text);
                Object object = take(note.get("key").asLong());
                note.remove("key");
                running = !note.get("kind").asText().equals("stop");
                handle(note, object);
                handled++;
            } catch (InterruptedException ended) {
                running = false;
            } catch (Throwable ours) {
                dropped++;
            }
        }
        try {
            tellLosses();
        } finally {
            finish();
        }
    }

    private void handle(ObjectNode note, Object object) throws Exception {
        if (!begun) {
            begun = true;
            ObjectNode begin = JSON.createObjectNode();
            send(one(begin.put("kind", "begin").put("time", application().get("time").asLong()), ""));
        }
        String kind = note.get("kind").asText();
        if (kind.equals("start")) started(note, (QueryExecution) object);
        else if (kind.equals("end")) ended(note, (QueryExecution) object);
        else {
            if (kind.equals("stop")) note.put("lost", lost() + dropped);
            ObjectNode message = one(note, UUID.randomUUID().toString());
            if (kind.equals("stream")) streams.put(note.get("run").asText(), message);
            if (streams.size() > MOST_OPEN) streams.remove(streams.keySet().iterator().next());
            if (kind.equals("stream end") && streams.containsKey(note.get("run").asText())) {
                message = (ObjectNode) streams.remove(note.get("run").asText());
                ((ArrayNode) message.get("happenings")).add(note);
            }
            send(message);
        }
    }

    /** A batch with the start of its stream before it: every message is read for itself. */
    private void sendBatch(String stream, ObjectNode message) throws Exception {
        ObjectNode before = (ObjectNode) streams.get(stream);
        if (before != null) {
            ((ArrayNode) message.get("happenings")).insert(0, (JsonNode) before.get("happenings").get(0));
            streams.put(stream, message);
        }
        send(message);
    }

    private ObjectNode one(ObjectNode note, String run) {
        ObjectNode message = JSON.createObjectNode();
        message.put("run", run);
        ArrayNode notes = message.putArray("happenings");
        if (note != null) notes.add(note);
        return message;
    }

    private void started(ObjectNode note, QueryExecution execution) {
        Long id = Long.valueOf(note.get("id").asLong());
        Long root = Long.valueOf(note.get("root").asLong());
        roots.put(id, root);
        if (!open.containsKey(root)) {
            open.put(root, one(null, UUID.randomUUID().toString()));
            if (open.size() > MOST_OPEN) forget((Long) open.keySet().iterator().next());
        }
        record(note, id, execution);
        ((ArrayNode) ((ObjectNode) open.get(root)).get("happenings")).add(note);
    }

    private void ended(ObjectNode note, QueryExecution execution) throws Exception {
        Long id = Long.valueOf(note.get("id").asLong());
        Long root = roots.containsKey(id) ? (Long) roots.remove(id) : id;
        ObjectNode message = (ObjectNode) open.get(root);
        if (message == null) message = one(null, UUID.randomUUID().toString());
        if (!dumps.containsKey(id)) record(note, id, execution); // Spark had let go of it when it was asked at the start
        if (execution != null && note.get("error").isNull()) measure(note, id, execution);
        dumps.remove(id);
        ((ArrayNode) message.get("happenings")).add(note);
        if (!id.equals(root)) return;
        open.remove(root);
        if (!note.hasNonNull("run")) send(message);
        else if (!isQuiet(note.get("run").asText())) sendBatch(note.get("run").asText(), message);
    }

    /** Batches of one stream are sent once a minute. */
    private boolean isQuiet(String stream) {
        long now = System.currentTimeMillis();
        Long before = (Long) said.get(stream);
        if (before != null && now - before.longValue() < 60000) return true;
        said.put(stream, Long.valueOf(now));
        return false;
    }

    private void forget(Long root) {
        open.remove(root);
        dropped++;
        Iterator each = roots.values().iterator();
        while (each.hasNext()) if (root.equals(each.next())) each.remove();
    }

    private void record(ObjectNode note, Long id, QueryExecution execution) {
        if (execution == null) return;
        try {
            PlanDump dumper = new PlanDump();
            note.setAll(new Recorder(execution).plan(dumper, characters, milliseconds));
            dumps.put(id, dumper);
        } catch (Throwable unread) {
            note.put("failed", unread.getClass().getSimpleName() + ": " + unread.getMessage());
        }
    }

    private void measure(ObjectNode note, Long id, QueryExecution execution) {
        try {
            JsonNode measures = JSON.readTree(new Measures().of(execution));
            for (int at = 0; at < measures.size(); at++) {
                ArrayNode jdbc = (ArrayNode) measures.get(at).get("jdbc");
                if (jdbc != null) jdbc.set(0, JSON.getNodeFactory().textNode(Recorder.masked(jdbc.get(0).asText())));
            }
            note.set("measures", measures);
            PlanDump dumper = (PlanDump) dumps.get(id);
            if (dumper != null && !note.has("live")) new Recorder(execution).answers(note, dumper);
        } catch (Throwable unread) {
            note.put("failed", unread.getClass().getSimpleName() + ": " + unread.getMessage());
        }
    }

    // ---------------------------------------------------------------------------------------------------- sending

    private void send(ObjectNode message) throws Exception {
        message.set("application", application());
        byte[] body = JSON.writeValueAsBytes(message);
        if (sink.startsWith("http")) post(body);
        else spool(body);
    }

    private void post(byte[] body) throws Exception {
        java.net.URL url = new java.net.URL(sink);
        if (url.getPath().isEmpty() || url.getPath().equals("/")) url = new java.net.URL(url, "/api/v1/lineage");
        for (int attempt = 0; attempt < TRIES; attempt++) {
            try {
                HttpURLConnection connection = (HttpURLConnection) url.openConnection();
                connection.setConnectTimeout(2000);
                connection.setReadTimeout(5000);
                connection.setRequestMethod("POST");
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/json");
                String key = System.getenv("OPENLINEAGE_API_KEY");
                if (key != null) connection.setRequestProperty("Authorization", "Bearer " + key);
                OutputStream out = connection.getOutputStream();
                out.write(body);
                out.close();
                int status = connection.getResponseCode();
                if (status < 300) return;
                if (status < 500 && status != 429) break;
            } catch (java.io.IOException away) {
                // perhaps it comes back
            }
            Thread.sleep(200L << attempt);
        }
        dropped++;
    }

    private void spool(byte[] body) throws Exception {
        String folder = sink.startsWith("spool:") ? sink.substring(6) : sink;
        java.io.File place = new java.io.File(folder.startsWith("//") ? folder.substring(2) : folder);
        place.mkdirs();
        java.io.File file = new java.io.File(place, application().get("id").asText().replaceAll("[^\\w.-]", "_") + "-" + application().get("run").asText() + ".ndjson");
        if (file.length() + body.length > spoolBytes) {
            dropped++;
            return;
        }
        boolean fresh = file.createNewFile();
        if (fresh) {
            file.setReadable(false, false);
            file.setReadable(true, true);
        }
        java.io.FileOutputStream out = new java.io.FileOutputStream(file, true);
        try {
            byte[] line = new byte[body.length + 1];
            System.arraycopy(body, 0, line, 0, body.length);
            line[body.length] = '\n';
            out.write(line);
        } finally {
            out.close();
        }
    }

    private void tellLosses() {
        if (lost() + dropped > 0) System.err.println("headwater: " + (lost() + dropped) + " notes of lineage are lost");
    }
}
