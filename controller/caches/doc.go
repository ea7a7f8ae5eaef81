// Package caches keeps the Jobs and the pods of Jobs that the API server shows, for all loops of the controller. It decides nothing
// and writes nothing.
//
// The caches keep of a pod what package plan and podFailurePolicies read, and of a Job that others run all but its template; and
// what the custom policies in force read, of the pods and Jobs that their rules may be asked about. When these come to read more,
// Jobs and pods are listed again. Each object has a mark that says what it was trimmed to (keeping), and rules are not asked about
// one that lacks something that any of them reads (LacksJob, LacksPod). Rules are looked up first, then the mark, because what
// they read is kept before they are in force. Nothing is dropped that some rules were to read: a pod is judged by those that were
// in force when it failed.
package caches
