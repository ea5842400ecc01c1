/* What esbuild takes in as text. */
declare module "*.md" {
	const text: string;
	export default text;
}
