// Package policy tests the controller with custom policies on a real API server: from before their kinds are installed until
// after they are removed, while policies change, break and are repaired, and the controller restarts. It has only tests.
package policy
