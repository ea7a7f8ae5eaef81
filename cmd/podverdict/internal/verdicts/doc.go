// Package verdicts reads Jobs with their Pods, judges them and prints the verdicts. The verbs that print verdicts use it like this:
//
//	in, err := o.Read(ctx, c, args)
//	page := printing.Page(in.Scenarios)
//	for one, err := range in.Judge(ctx, c, o) {
//		err = page.Add(one)
//	}
//	err = page.End()
//
// input.go reads the input, plan.go builds each Job's Snapshot, judged.go and verdict.go read the Snapshot's decisions, and writer.go
// prints.
package verdicts
