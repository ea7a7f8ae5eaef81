package plan

import (
	"testing"
	"time"
)

// TestRetryDelay tests that a rule's retryDelay replaces the back-off after the last failure.
func TestRetryDelay(t *testing.T) {
	ni, ix := nonIndexed(9, 2).started().replaceFailed(), perIndex(9, 2, 9).started().replaceFailed()
	rules := customRules{51: ignoring().after(0), 52: counting().after(time.Minute), 53: counting().after(24 * time.Hour)}
	p := func(slot, attempt int) podBuilder { return podOf(ni, slot, attempt) }
	i := func(slot, attempt int) podBuilder { return podOf(ix, slot, attempt) }
	both := []string{"0/1", "1/0"}
	runAll(t, []behaviour{
		{name: "at once", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(51, 5)}, second: 5, want: want{create: both}},
		{name: "after a minute", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(52, 5)}, second: 15, want: want{lookAgain: 50}},
		{name: "over", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(52, 5)}, second: 65, want: want{create: both}},
		{name: "longer than any back-off", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(53, 5)}, second: 6, want: want{lookAgain: 86399}},
		{name: "the last failure's", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(53, 5), p(1, 0).exited(52, 6)}, second: 6, want: want{lookAgain: 60}},
		{name: "which may have none", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(53, 5), p(1, 0).exited(1, 6)}, second: 6, want: want{lookAgain: 20}},
		{name: "the longest of several at a time", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(52, 5), p(1, 0).exited(53, 5), p(2, 0).exited(51, 5)}, second: 5,
			want: want{lookAgain: 86400}},
		{name: "back-off or delay, whichever is longer: back-off", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(51, 5), p(1, 0).exited(1, 5)}, second: 5, want: want{lookAgain: 20}},
		{name: "back-off or delay, whichever is longer: delay", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(1, 5), p(1, 0).exited(52, 5)}, second: 5, want: want{lookAgain: 60}},
		{name: "of a later one alone", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(51, 5), p(1, 0).exited(1, 5), p(2, 0).exited(51, 6)}, second: 6,
			want: want{create: []string{"0/1", "1/1"}}},
		{name: "a success ends it", job: ni, rules: rules, pods: []podBuilder{p(0, 0).exited(53, 5), p(1, 0).exited(0, 6)}, second: 6, want: want{create: []string{"0/1", "2/0"}}},
		{name: "of an index: at once", job: ix, rules: rules, pods: []podBuilder{i(0, 1).failures(3).exited(51, 5), i(1, 0).ready()}, second: 5, want: want{create: []string{"0/2"}}},
		{name: "of an index: after a minute", job: ix, rules: rules, pods: []podBuilder{i(0, 1).failures(3).exited(52, 5), i(1, 0).ready()}, second: 50, want: want{lookAgain: 15}},
		{name: "of an index: the others do not wait", job: ix, rules: rules, pods: []podBuilder{i(0, 1).exited(53, 5), i(1, 0).exited(51, 5)}, second: 6,
			want: want{create: []string{"1/1"}, lookAgain: 86399}},
		{name: "let go: the ledger remembers", job: ni.ledger(`{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","retry":60}}`), rules: rules, second: 15,
			want: want{lookAgain: 50}},
		{name: "let go: at once", job: ni.ledger(`{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","retry":0}}`), rules: rules, second: 5,
			want: want{create: []string{"0/0", "1/0"}}},
		{name: "let go: one of several at a time", rules: rules, second: 5, pods: []podBuilder{p(0, 0).exited(51, 5)},
			job:  ni.ledger(`{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","at":["other"],"retry":60}}`),
			want: want{lookAgain: 60}},
		{name: "let go: with others that have none", rules: rules, second: 5,
			job:  ni.ledger(`{"backoff":{"failures":2,"last":"2026-03-01T12:00:05Z","retry":1,"mixed":true}}`),
			want: want{lookAgain: 20}},
		{name: "forged: too long", job: ni.ledger(`{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","retry":86401}}`), rules: rules, second: 6,
			want: want{create: []string{"0/0", "1/0"}, events: []string{ReasonLedgerLost}}},
		{name: "forged: negative", job: ni.ledger(`{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","retry":-1}}`), rules: rules, second: 6,
			want: want{create: []string{"0/0", "1/0"}, events: []string{ReasonLedgerLost}}},
	})
}

// TestRetryDelayIsRecorded tests that the delay survives its pod: it is written before the pod is released.
func TestRetryDelayIsRecorded(t *testing.T) {
	b := nonIndexed(9, 1).started().replaceFailed()
	o := seen(b, 6, podOf(b, 0, 0).exited(51, 5).deleted(6))
	o.Judge = customRules{51: ignoring().after(time.Hour)}.judge
	p := planned(t, o)
	const want = `{"backoff":{"failures":1,"last":"2026-03-01T12:00:05Z","at":["uid-train-45m99"],"retry":3600}}`
	if got := ledgerOf(o.Job, p); got != want || len(p.Release) > 0 {
		t.Fatalf("the ledger is %s, released are %v", got, podNames(p.Release))
	}
	o.Job = p.Write
	if p = planned(t, o); len(p.Release) != 1 {
		t.Fatalf("released are %v", podNames(p.Release))
	}
	o.Pods = nil
	if p = planned(t, o); len(p.Create) > 0 || p.LookAgain != time.Hour-time.Second {
		t.Errorf("%v are created, it looks again after %v", podNames(p.Create), p.LookAgain)
	}
}
