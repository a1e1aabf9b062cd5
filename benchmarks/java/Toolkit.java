import com.google.zetasql.*;
import com.google.zetasql.resolvedast.ResolvedNodes.*;
import com.google.zetasql.toolkit.options.BigQueryLanguageOptions;
import com.google.zetasql.toolkit.tools.lineage.*;
import java.nio.file.*;
import java.util.*;

/** Column lineage of queries by Google's ZetaSQL toolkit: prints the CPU milliseconds of each pass over all of them. */
public class Toolkit {
    public static void main(String[] args) throws Exception {
        LanguageOptions language = BigQueryLanguageOptions.get();
        SimpleCatalog catalog = catalog(Paths.get(args[0]), language);
        AnalyzerOptions options = new AnalyzerOptions();
        options.setLanguageOptions(language);
        options.setPruneUnusedColumns(true);
        String[] queries = new String(Files.readAllBytes(Paths.get(args[1])), "UTF-8").split("\0");
        for (int pass = 0; pass < Integer.parseInt(args[2]); pass++) {
            long began = cpu();
            int columns = 0;
            for (String query : queries) {
                ResolvedQueryStmt resolved = (ResolvedQueryStmt) Analyzer.analyzeStatement(query, options, catalog);
                columns += ColumnLineageExtractor.extractColumnLevelLineage(resolved, "result").size();
            }
            System.out.println((cpu() - began) / 1000000 + " " + columns);
        }
    }

    private static long cpu() {
        Object system = java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime();
    }

    /** A catalog of tables that are given as lines of table, column and kind of type, with tabs between. */
    private static SimpleCatalog catalog(Path tables, LanguageOptions language) throws Exception {
        SimpleCatalog catalog = new SimpleCatalog("tpc");
        catalog.addZetaSQLFunctionsAndTypes(new ZetaSQLBuiltinFunctionOptions(language));
        Map<String, SimpleTable> found = new LinkedHashMap<>();
        for (String line : Files.readAllLines(tables)) {
            String[] parts = line.split("\t");
            Type type = TypeFactory.createSimpleType(ZetaSQLType.TypeKind.valueOf("TYPE_" + parts[2]));
            found.computeIfAbsent(parts[0], SimpleTable::new).addSimpleColumn(parts[1], type);
        }
        found.values().forEach(catalog::addSimpleTable);
        catalog.register();
        return catalog;
    }
}
