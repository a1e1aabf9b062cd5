package headwater.plan;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.trees.Origin;
import scala.Option;
import scala.Product;
import scala.Tuple2;

/** What every part of a dump is written with: JSON into a text that may not outgrow its bounds, names, places. */
abstract class Writer {
    private static final Map NAMES = new ConcurrentHashMap(); // class → the names of its fields
    private static final Method CONTEXT = method(Origin.class, "pysparkErrorContext"); // Spark 3.5 has none
    final StringBuilder out = new StringBuilder();
    final List texts = new ArrayList();
    int most;
    long end;
    boolean truncated;

    boolean full() {
        if (!truncated && (out.length() > most || System.currentTimeMillis() > end)) truncated = true;
        return truncated;
    }

    static String name(Object object) {
        String name = object.getClass().getName();
        int dot = Math.max(name.lastIndexOf('.'), name.lastIndexOf('$', name.length() - 2));
        name = name.substring(dot + 1);
        return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
    }

    /** The answer of a method, also of one that is not public; null where there is none. */
    static Object ask(Object object, String name) {
        Method found = object == null ? null : method(object.getClass(), name);
        try {
            return found == null ? null : found.invoke(object, new Object[0]);
        } catch (Exception fails) {
            return null;
        }
    }

    private static Method method(Class of, String name) {
        for (Class one = of; one != null; one = one.getSuperclass()) {
            try {
                Method found = one.getDeclaredMethod(name, new Class[0]);
                found.setAccessible(true);
                return found;
            } catch (NoSuchMethodException above) {
                // a class above may have it
            }
        }
        return null;
    }

    /** The name of a field. The Scala of Spark 3.5 does not keep it with the object: the class is looked into, once. */
    static String fieldName(Product product, int at) {
        String[] names = (String[]) NAMES.get(product.getClass());
        if (names == null) NAMES.put(product.getClass(), names = fieldNames(product));
        return names[at];
    }

    private static String[] fieldNames(Product product) {
        String[] names = new String[product.productArity()];
        try {
            Method named = Product.class.getMethod("productElementName", new Class[] {int.class});
            for (int at = 0; at < names.length; at++) names[at] = (String) named.invoke(product, new Object[] {Integer.valueOf(at)});
            return names;
        } catch (Exception older) {
            return names.length == 0 || held(product, names) ? names : reflected(product, names);
        }
    }

    /** The parameters of a case class are fields of the object, one after the other: those that hold what it is made of. */
    private static boolean held(Product product, String[] names) {
        Field[] fields = product.getClass().getDeclaredFields();
        int found = 0;
        for (int from = 0; from + names.length <= fields.length; from++) {
            int at = 0;
            while (at < names.length && holds(fields[from + at], product, product.productElement(at))) at++;
            if (at < names.length || ++found > 1) continue;
            for (at = 0; at < names.length; at++) names[at] = fields[from + at].getName();
        }
        return found == 1;
    }

    private static boolean holds(Field field, Product product, Object value) {
        try {
            field.setAccessible(true);
            Object held = field.get(product);
            return held == value || (field.getType().isPrimitive() && held.equals(value));
        } catch (Exception unknown) {
            return false;
        }
    }

    /** By Scala's own reflection, which takes more than a second when it is first asked. */
    private static String[] reflected(Product product, String[] names) {
        try {
            Class reflection = Class.forName("org.apache.spark.sql.catalyst.ScalaReflection");
            Object all = reflection.getMethod("getConstructorParameterNames", new Class[] {Class.class}).invoke(null, new Object[] {product.getClass()});
            for (int at = 0; at < names.length; at++) names[at] = (String) ((scala.collection.Seq) all).apply(at);
        } catch (Exception unknown) {
            for (int at = 0; at < names.length; at++) names[at] = "_" + (at + 1);
        }
        return names;
    }

    /** The Python call that made something, None where it is not known. */
    private static Option call(Origin origin) {
        try {
            return CONTEXT == null ? Option.empty() : (Option) CONTEXT.invoke(origin, new Object[0]);
        } catch (Exception unknown) {
            return Option.empty();
        }
    }

    void optional(String name, Object value) {
        if (value instanceof Option) value = ((Option) value).isDefined() ? ((Option) value).get() : null;
        if (value == null) return;
        out.append(",\"").append(name).append("\":");
        text(value.toString());
    }

    /** Where an expression was written: its own origin, or that of the first part that has one. */
    static Origin source(Expression one, int depth) {
        Origin origin = one.origin();
        Expression held = held(one);
        if (held != null && depth > 0) {
            Origin nearer = source(held, depth - 1);
            if (nearer != null && isInside(nearer, origin)) return nearer;
        }
        if (origin.sqlText().isDefined() || call(origin).isDefined()) return origin;
        if (depth > 0) {
            scala.collection.Iterator each = one.children().iterator();
            while (each.hasNext()) {
                Origin found = source((Expression) each.next(), depth - 1);
                if (found != null) return found;
            }
        }
        return null;
    }

    /** What the analyzer has wrapped up, if it did: its aliases, casts and choices have the place of a whole statement. */
    private static Expression held(Expression one) {
        if (one instanceof Alias) return ((Alias) one).child();
        if (one instanceof Cast && isImplicit((Cast) one)) return ((Cast) one).child();
        if (name(one).equals("AssertNotNull")) return (Expression) one.children().head();
        Object start = one.origin().startIndex().isDefined() ? one.origin().startIndex().get() : null;
        if (one instanceof If && start instanceof Integer && ((Integer) start).intValue() == 0) return ((If) one).trueValue();
        return null;
    }

    /** Whether the analyzer put this cast in, for types to fit; one that a person wrote carries a mark. */
    static boolean isImplicit(Cast cast) {
        return !cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isDefined()
            || cast.child().dataType().equals(cast.dataType());
    }

    private static boolean isInside(Origin nearer, Origin origin) {
        if (!origin.sqlText().isDefined()) return !call(origin).isDefined();
        if (!nearer.sqlText().isDefined() || !nearer.sqlText().get().equals(origin.sqlText().get())) return false;
        return length(nearer) < length(origin);
    }

    private static int length(Origin origin) {
        if (!origin.startIndex().isDefined() || !origin.stopIndex().isDefined()) return Integer.MAX_VALUE;
        return ((Integer) origin.stopIndex().get()).intValue() - ((Integer) origin.startIndex().get()).intValue();
    }

    void origin(Origin origin, String before) {
        if (origin == null) return;
        if (call(origin).isDefined()) {
            Tuple2 context = (Tuple2) call(origin).get();
            out.append(before).append("{\"call\":");
            text((String) context._1());
            out.append(",\"at\":");
            text((String) context._2());
            out.append('}');
        } else if (origin.sqlText().isDefined() && origin.startIndex().isDefined() && origin.stopIndex().isDefined()) {
            String sql = (String) origin.sqlText().get();
            int at = texts.indexOf(sql);
            if (at < 0) {
                at = texts.size();
                texts.add(sql);
            }
            out.append(before).append("{\"text\":").append(at).append(",\"start\":").append(origin.startIndex().get());
            out.append(",\"end\":").append(((Integer) origin.stopIndex().get()).intValue() + 1).append('}');
        }
    }

    void text(String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char sign = text.charAt(at);
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < ' ' || Character.isSurrogate(sign)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(sign)}));
            else out.append(sign);
        }
        out.append('"');
    }
}
