/*
 * All views, in the order of the navigation.
 */
import { View } from "./view";
import { blocks } from "./view_blocks";
import { callers } from "./view_callers";
import { diff } from "./view_diff";
import { flameGraph } from "./view_flame";
import { groups } from "./view_groups";
import { histograms } from "./view_histograms";
import { memory } from "./view_maps";
import { overview } from "./view_overview";
import { source } from "./view_source";
import { sql } from "./view_sql";
import { threads } from "./view_threads";
import { tree } from "./view_tree";

export const VIEWS: View[] = [overview, flameGraph, groups, tree, callers,
	blocks, histograms, threads, memory, diff, source,
	sql];
