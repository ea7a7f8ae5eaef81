// Package cluster compares the vectors of the constraints and of the guardrails with a real API server. It has only tests.
//
// New objects are created with dry-run. For an update, the old object is really created, with its status, and then updated
// with dry-run: vectors.Submission.Update applies the vector's change to it. So the API server has accepted every old object;
// no vector has one that only an earlier version would accept. The API server's findings are the causes of its refusal and
// the warnings in its response.
//
// Six peculiarities of the API server do not count as differences:
//
//   - On an update it validates a Job by itself and as part of the update, and reports
//     most errors twice. They count once.
//   - It prints the whole of a pod template that may not change. The value is left out.
//   - It reports an unknown restart policy a second time, with the list of those that
//     are valid.
//   - It also warns about things outside the constraints, such as names with a dot.
//   - It does not warn about objects that it refuses.
//   - If it panics, it breaks off the response and goes on with the next request.
package cluster
