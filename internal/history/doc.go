// Package history is the form of history lines: what is kept of a Pod that failed, with the verdict on it, and of a Job that has
// finished, after both are gone. Each is an object in JSON on a line of its own.
//
// A line has what explains a failure and adds up its costs: names, labels, owners, the node, images, requests, and how containers
// ended. It has no environment, arguments, commands or volumes, and nothing of a message beyond MaxMessage bytes.
package history
