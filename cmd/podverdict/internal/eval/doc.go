// Package eval is the verb that says what each Pod's failure means for its Job.
package eval
