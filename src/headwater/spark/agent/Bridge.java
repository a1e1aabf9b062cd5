package headwater.agent;

import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.*;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.*;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.apache.spark.util.ShutdownHookManager;
import scala.Option;

/**
 * A listener that keeps what the agent wants to know until Python comes and asks for it.
 *
 * Spark calls it on a queue of its own, and it never waits: when Python is behind by more than `capacity`
 * happenings, further ones are counted and forgotten. The one exception is the end of the application, where it waits a
 * little so that Python, if it still runs, can finish. The format of a happening is described in bridge.py.
 */
public class Bridge extends SparkListener {
    private LinkedBlockingQueue waiting;
    private final Map held = new HashMap();
    private final Set jobs = new HashSet();
    private final Map details = new HashMap(); // execution → its first job
    private final Map work = new HashMap(); // execution → jobs, rows and bytes that its tasks have written
    private final Map stages = new HashMap(); // stage → execution
    private final CountDownLatch finished = new CountDownLatch(1);
    private SparkContext context;
    private long patience;
    private int python;
    private volatile long accepted;
    private volatile long lost;
    private long next;
    private long given; // the key of the object that came with the last happening
    private Function measures;

    /** `measure` says what an execution has read and written; null when nobody wants to know at its end. */
    public void open(Object sparkContext, int capacity, long milliseconds, int process, Function measure) {
        measures = measure;
        context = (SparkContext) sparkContext;
        waiting = new LinkedBlockingQueue(capacity);
        patience = milliseconds;
        python = process;
    }

    /** The next happening as JSON, or null when there is none in that time. Who asks for it wants no object of the last. */
    public String poll(long milliseconds) throws InterruptedException {
        take(given);
        Object[] next = (Object[]) waiting.poll(milliseconds, TimeUnit.MILLISECONDS);
        given = next == null ? 0 : ((Long) next[1]).longValue();
        return next == null ? null : (String) next[0];
    }

    /** The object that came with the last happening; it is given once. */
    public Object take(long key) {
        synchronized (held) {
            return held.remove(Long.valueOf(key));
        }
    }

    public long accepted() { return accepted; }

    public long lost() { return lost; }

    public int size() { return waiting.size(); }

    /** Python has done what it wanted to do before the end. */
    public void finish() { finished.countDown(); }

    public void onOtherEvent(SparkListenerEvent event) {
        try {
            if (event instanceof SparkListenerSQLExecutionStart) started((SparkListenerSQLExecutionStart) event);
            else if (event instanceof SparkListenerSQLExecutionEnd) ended((SparkListenerSQLExecutionEnd) event);
            else if (event instanceof StreamingQueryListener.QueryStartedEvent) {
                StreamingQueryListener.QueryStartedEvent stream = (StreamingQueryListener.QueryStartedEvent) event;
                String name = stream.name() == null ? "null" : text(stream.name());
                offer("\"kind\":\"stream\"" + at(stream.runId()) + ",\"name\":" + name, null);
            } else if (event instanceof StreamingQueryListener.QueryTerminatedEvent) {
                StreamingQueryListener.QueryTerminatedEvent stream = (StreamingQueryListener.QueryTerminatedEvent) event;
                String why = stream.exception().isDefined() ? text((String) stream.exception().get()) : "null";
                offer("\"kind\":\"stream end\"" + at(stream.runId()) + ",\"error\":" + why, null);
            }
        } catch (Throwable ours) {
            lost++;
        }
    }

    private static String at(java.util.UUID run) {
        return ",\"run\":" + text(run.toString()) + ",\"time\":" + System.currentTimeMillis();
    }

    private void started(SparkListenerSQLExecutionStart event) {
        QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
        Option root = event.rootExecutionId();
        Object id = root.isDefined() ? root.get() : Long.valueOf(event.executionId());
        offer("\"kind\":\"start\",\"id\":" + event.executionId() + ",\"root\":" + id + ",\"time\":" + event.time()
            + stream(execution), readable(execution));
    }

    /**
     * An execution that has a plan to read: null when its analysis failed, and when it only hands out what a command
     * has returned, which ran before as an execution of its own.
     */
    private static QueryExecution readable(QueryExecution execution) {
        try {
            return execution == null || execution.commandExecuted() instanceof CommandResult ? null : execution;
        } catch (Throwable notAnalyzed) {
            return null;
        }
    }

    private void ended(SparkListenerSQLExecutionEnd event) {
        String error = "null";
        if (event.errorMessage().isDefined() && !((String) event.errorMessage().get()).isEmpty())
            error = text((String) event.errorMessage().get());
        String trace = event.executionFailure() != null && event.executionFailure().isDefined()
            ? text(trace((Throwable) event.executionFailure().get())) : "null";
        String name = event.executionName().isDefined() ? text((String) event.executionName().get()) : "null";
        long[] done = done(Long.valueOf(event.executionId()));
        work.remove(Long.valueOf(event.executionId()));
        Object job = details.remove(String.valueOf(event.executionId()));
        offer("\"kind\":\"end\",\"id\":" + event.executionId() + ",\"time\":" + event.time() + ",\"error\":" + error
            + ",\"trace\":" + trace + ",\"name\":" + name + ",\"jobs\":" + done[0] + ",\"rows\":" + done[1]
            + ",\"bytes\":" + done[2] + ",\"job\":" + job + stream(event.qe())
            + (error.equals("null") ? measured(event.qe()) : ""), readable(event.qe()));
    }

    private String measured(QueryExecution execution) {
        if (measures == null || readable(execution) == null) return "";
        try {
            return ",\"measures\":" + measures.apply(execution);
        } catch (Throwable unknown) {
            return ",\"unmeasured\":" + text(unknown.getClass().getSimpleName() + ": " + unknown.getMessage());
        }
    }

    /** What an execution has done so far. */
    private long[] done(Long execution) {
        long[] done = (long[]) work.get(execution);
        if (done == null) work.put(execution, done = new long[3]);
        return done;
    }

    /** The session of an execution and, of a micro-batch, the run of its stream. The class of those moves between packages from release to release. */
    private static String stream(QueryExecution execution) {
        if (execution == null) return "";
        String session = ",\"session_id\":" + text(execution.sparkSession().sessionUUID());
        return session + run(execution);
    }

    private static String run(QueryExecution execution) {
        if (!execution.getClass().getSimpleName().equals("IncrementalExecution")) return "";
        try {
            Object run = execution.getClass().getMethod("runId", new Class[0]).invoke(execution, new Object[0]);
            return ",\"run\":" + text(String.valueOf(run));
        } catch (Exception unknown) {
            return "";
        }
    }

    private static String trace(Throwable failure) {
        java.io.StringWriter out = new java.io.StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(out));
        String trace = out.toString();
        return trace.length() > 20000 ? trace.substring(0, 20000) : trace;
    }

    /** Jobs of queries are counted, and the first of each is kept; those that belong to none are work on RDDs. */
    public void onJobStart(SparkListenerJobStart event) {
        try {
            if (isOfQuery(event)) {
                String own = event.properties().getProperty("spark.sql.execution.id");
                String root = event.properties().getProperty("spark.sql.execution.root.id", own);
                if (details.size() > 1000) details.clear(); // of ends that never came
                if (!details.containsKey(root)) details.put(root, job(event));
                Long id = Long.valueOf(own);
                done(id)[0]++;
                scala.collection.Iterator each = event.stageInfos().iterator();
                while (each.hasNext()) stages.put(Integer.valueOf(((StageInfo) each.next()).stageId()), id);
                return;
            }
            Option job = context.dagScheduler().jobIdToActiveJob().get(Integer.valueOf(event.jobId()));
            if (!job.isDefined()) return;
            jobs.add(Integer.valueOf(event.jobId()));
            String name = event.stageInfos().isEmpty() ? "job" : ((StageInfo) event.stageInfos().last()).name();
            offer("\"kind\":\"job\",\"id\":" + event.jobId() + ",\"time\":" + event.time() + ",\"name\":" + text(name),
                job.get());
        } catch (Throwable ours) {
            lost++;
        }
    }

    static boolean isOfQuery(SparkListenerJobStart event) {
        return event.properties() != null && event.properties().getProperty("spark.sql.execution.id") != null;
    }

    private static String job(SparkListenerJobStart event) {
        String[] names = new String[] {"jobDescription", "spark.job.description", "jobGroup", "spark.jobGroup.id", "jobCallSite", "callSite.short"};
        String out = "{\"jobId\":" + event.jobId();
        for (int at = 0; at < names.length; at += 2) {
            String value = event.properties().getProperty(names[at + 1]);
            if (value != null) out += ",\"" + names[at] + "\":" + text(value.length() > 2000 ? value.substring(0, 2000) : value);
        }
        return out + "}";
    }

    public void onStageCompleted(SparkListenerStageCompleted event) {
        Long execution = (Long) stages.remove(Integer.valueOf(event.stageInfo().stageId()));
        if (execution == null || event.stageInfo().taskMetrics() == null || !work.containsKey(execution)) return;
        long[] done = done(execution);
        done[1] += event.stageInfo().taskMetrics().outputMetrics().recordsWritten();
        done[2] += event.stageInfo().taskMetrics().outputMetrics().bytesWritten();
    }

    public void onJobEnd(SparkListenerJobEnd event) {
        if (!jobs.remove(Integer.valueOf(event.jobId()))) return;
        String error = "null";
        if (event.jobResult() instanceof JobFailed) error = text(String.valueOf(((JobFailed) event.jobResult()).exception().getMessage()));
        offer("\"kind\":\"job end\",\"id\":" + event.jobId() + ",\"time\":" + event.time() + ",\"error\":" + error, null);
    }

    public void onApplicationEnd(SparkListenerApplicationEnd event) {
        String why = ShutdownHookManager.inShutdown() ? text("Spark was shut down before the program ended") : "null";
        offer("\"kind\":\"stop\",\"time\":" + event.time() + ",\"error\":" + why, null);
        long end = System.currentTimeMillis() + patience;
        try {
            while (!finished.await(100, TimeUnit.MILLISECONDS) && System.currentTimeMillis() < end && pythonLives()) {}
        } catch (InterruptedException nobodyWaits) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether the Python that asks still runs; where the system does not say, it is believed to. */
    private boolean pythonLives() {
        if (python == 0) return true; // there is none: a thread of this JVM asks
        try {
            byte[] stat = Files.readAllBytes(Paths.get("/proc/" + python + "/stat", new String[0]));
            String state = new String(stat);
            return "ZX".indexOf(state.charAt(state.lastIndexOf(')') + 2)) < 0;
        } catch (java.io.IOException gone) {
            return !new java.io.File("/proc/self/stat").exists();
        }
    }

    private void offer(String fields, Object object) {
        long key = ++next;
        if (object != null) {
            synchronized (held) {
                held.put(Long.valueOf(key), object);
            }
        }
        String happening = "{" + fields + ",\"key\":" + (object == null ? 0 : key) + "}";
        if (waiting.offer(new Object[] {happening, Long.valueOf(key)})) {
            accepted++;
        } else {
            take(key);
            lost++;
        }
    }

    private static String text(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int at = 0; at < text.length(); at++) {
            char sign = text.charAt(at);
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < ' ' || Character.isSurrogate(sign)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(sign)}));
            else out.append(sign);
        }
        return out.append('"').toString();
    }
}
