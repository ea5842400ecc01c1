/*
 * All views, in the order of the navigation.
 */
import { View } from "./view";
import { blocks } from "./views/view_blocks";
import { callers } from "./views/view_callers";
import { diff } from "./views/view_diff";
import { flameGraph } from "./views/view_flame";
import { groups } from "./views/view_groups";
import { histograms } from "./views/view_histograms";
import { memory } from "./views/view_maps";
import { overview } from "./views/view_overview";
import { source } from "./views/view_source";
import { sql } from "./views/view_sql";
import { threads } from "./views/view_threads";
import { tree } from "./views/view_tree";

export const VIEWS: View[] = [overview, flameGraph, groups, tree, callers,
	blocks, histograms, threads, memory, diff, source,
	sql];
