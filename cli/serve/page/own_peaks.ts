/*
 * A report in two calls: first without own peaks, which take longest, then with
 * them. If rows are sorted by own peak, there is only one call.
 */
import { Pair } from "./address";
import { Report } from "./answers";
import { Call, sameCall } from "./server_call";
import { App, Part } from "./view";

/* The page does not use the heap part of live blocks. */
export const SPARED: Pair[] = [["no-heap", ""]];
export const NO_OWN_PEAKS: Pair = ["no-own-peaks", ""];
export const QUICK: Pair[] = [NO_OWN_PEAKS, ...SPARED];

export class Reports {
	readonly part: Part;
	readonly peaks: Part;	/* shows only errors */
	private asked: Call | undefined;

	constructor(private readonly app: App, slot: string, kind: string) {
		this.part = new Part(app, slot, kind);
		this.peaks = new Part(app, `${slot}-peaks`, "apart later", true);
	}

	show(params: Pair[], sort: string, draw: (report: Report) => void): void {
		const { app, part, peaks } = this;
		const whole = app.call("report", [...params, ...SPARED]);
		const quick = app.call("report", [...params, ...QUICK]);
		const take = (value: unknown) => draw(value as Report);

		if (!sameCall(this.asked, whole))
			peaks.clear();
		this.asked = whole;
		if (sort === "own-peak")
			part.show(whole, take);
		else
			part.show(quick, (value) => {
				take(value);
				peaks.show(whole, take);
			});
	}

	close(): void {
		this.part.close();
		this.peaks.close();
	}
}
