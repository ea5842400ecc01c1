/*
 * A report that comes twice: first without the rows' own peaks, which take
 * longest to find out, and then with them. Where rows are sorted by them it comes
 * once.
 */
import { Pair } from "./address";
import { Report } from "./answers";
import { Call, sameCall } from "./ask";
import { App, Part } from "./view";

/* Of each live block nobody here wants to know on which heap it lies. */
export const SPARED: Pair[] = [["no-heap", ""]];
export const NO_OWN_PEAKS: Pair = ["no-own-peaks", ""];
export const QUICK: Pair[] = [NO_OWN_PEAKS, ...SPARED];

export class Reports {
	readonly part: Part;
	readonly peaks: Part;	/* shows nothing but what went wrong */
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
