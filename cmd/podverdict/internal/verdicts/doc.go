// Package verdicts reads Jobs with their Pods, judges them and prints the verdicts, for the verbs that do so:
//
//	in, err := o.Read(ctx, c, args)
//	j, err := verdicts.NewJudging(c, &in, o)
//	page := printing.Page(in.Scenarios)
//	for one, err := range j.Each(ctx, c) {
//		err = page.Add(one)
//	}
//	err = page.End()
//
// input.go reads, plan.go makes the Snapshot of each Job, judged.go and verdict.go read its decisions, and writer.go prints.
package verdicts
