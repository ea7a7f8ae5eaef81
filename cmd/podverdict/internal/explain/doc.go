// Package explain is the verb that says rule by rule why a Pod got its verdict.
package explain
