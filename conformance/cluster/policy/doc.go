// Package policy has the controller obey custom policies on a real API server: from before their kinds are installed until
// after they are removed, with policies that change, break and are mended meanwhile, and a controller that restarts. All of
// it is tests.
package policy
