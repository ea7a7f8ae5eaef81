// Package verdicts reads Jobs with their Pods, judges them and prints the verdicts, for the verbs that do so:
//
//	in, err := o.Read(ctx, c, args)
//	page := printing.Page(in.Scenarios)
//	for one, err := range in.Judge(ctx, c, o) {
//		err = page.Add(one)
//	}
//	err = page.End()
//
// input.go reads, plan.go makes the Snapshot of each Job, judged.go and verdict.go read its decisions, and writer.go prints.
package verdicts
