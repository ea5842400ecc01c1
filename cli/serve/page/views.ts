/*
 * All views, in the order of the navigation.
 */
import { View } from "./view";
import { overview } from "./view_overview";

export const VIEWS: View[] = [overview];
