/*
 * All views, in the order of the navigation.
 */
import { View } from "./view";
import { flameGraph } from "./view_flame";
import { groups } from "./view_groups";
import { overview } from "./view_overview";

export const VIEWS: View[] = [overview, flameGraph, groups];
