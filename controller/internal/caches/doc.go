// Package caches holds the Jobs, the pods of Jobs and the nodes for all loops of the controller. It decides nothing and
// writes nothing.
//
// To save memory, the caches keep only the fields of a pod that package plan and podFailurePolicies read, and of other
// controllers' Jobs all but the template. They also keep the fields that custom policies in force read. When custom
// policies read new fields, Jobs and pods are listed again. Each object has a mark that says which fields it was
// trimmed to (keeping). Rules are not evaluated on an object that lacks a field that any of them reads (LacksJob,
// LacksPod). Callers look up the rules first and the mark after that, because fields are kept before the rules that
// read them are in force. Fields kept once stay kept: a pod is evaluated by the rules that were in force when it
// failed.
//
// Nobody asks for nodes until a rule reads them. While the controller may not read them, nothing is known about any node,
// which is something else than a node that does not exist (NodeOf).
package caches
