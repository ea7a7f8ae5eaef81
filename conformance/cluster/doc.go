// Package cluster holds a real API server to the vectors of the constraints and of the
// guardrails, and them to it: all of it is tests.
//
// An object that is created is sent with dry-run. Of an update, the old object is
// created for real, with its status, and then the stored object is updated with
// dry-run: conformance.Submission.Update makes of it what the vector makes of its own.
// So every old object is one that the API server has accepted; what an earlier version
// may have stored and this one would refuse, no vector has. What the API server says
// is read from the causes of its refusal, and from the warnings of its response.
//
// Six things are the API server's own way and not a difference:
//
//   - On an update it validates a Job for itself and as part of the update, and says
//     most things twice. They are taken once.
//   - Of a pod template that may not change it prints all of it. The value is left out.
//   - Of a restart policy that no pod has it says so once more, with the list of those that
//     pods have.
//   - It warns of more than what the constraints are about, as of names with a dot.
//   - It does not warn of what it refuses.
//   - Where it panics it breaks off the response, and goes on with the next request.
package cluster
