// Package caches holds the Jobs, the pods of Jobs and the nodes for all loops of the controller. It makes no decisions
// and writes nothing.
//
// To save memory, the caches keep only the fields of a pod that package plan and podFailurePolicies read. Other
// controllers' Jobs are kept without their template. The caches also keep the fields read by custom policies in effect.
// When custom policies read new fields, Jobs and pods are listed again. Each object has a mark that identifies the set of
// fields it was trimmed to (keeping). Rules are not evaluated on an object that lacks a field that any of them reads
// (LacksJob, LacksPod). Callers look up the rules first and check the mark after that, because fields are kept before the
// rules that read them take effect. Fields are never dropped again, because a pod is evaluated by the rules that were in
// effect when it failed.
//
// Nodes are not listed until a rule reads them. While the controller is not allowed to read nodes, their state is
// unknown, which differs from a node that does not exist (NodeOf).
package caches
