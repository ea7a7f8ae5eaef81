package generators

// Garbage has texts that users might write into the annotations and the ledger of a Job.
var Garbage = []string{"", "x", "-1", "0", "1", "3", "99999", "2147483648", "1.5", `{"failed":1}`, `{"failed":-1}`, `{"releasing":["a","a",""]}`,
	`{"succeeded":"0-9999"}`, `{"succeeded":"4-2,x"}`, `{"backoff":{"failures":9,"last":"2999-01-01T00:00:00Z"}}`, "null", "[]",
	`{"budgets":{"gpu/code-51":{"matches":3}}}`, `{"budgets":{"gpu/code-51":{"matches":1,"held":["a"]}}}`, `{"budgets":{"a":{"matches":-1}}}`,
	`{"gpu/code-51":2}`, `{"gpu/code-51":-2}`, `{"backoff":{"failures":1,"last":"2026-03-01T12:00:00Z","retry":3600,"mixed":true}}`,
	`[{"pod":"train-0-x","exitCode":51,"finishTime":"2026-03-01T12:00:00Z"}]`, `{"attempts":[{"pod":"a","finishTime":"2999-01-01T00:00:00Z"}]}`}
