package evidence

// Cell aggregates attempts that share a property, such as their node.
type Cell struct {
	// Attempts is the number of attempts that have ended, and Failed the number of failed ones.
	Attempts int64 `json:"attempts"`
	Failed   int64 `json:"failed"`
	// Jobs is the number of Jobs with failed attempts, and Completed the number of these Jobs that completed anyway.
	Jobs      int64 `json:"jobs"`
	Completed int64 `json:"completed,omitempty"`
	// Ignored is the number of failed attempts that did not count.
	Ignored int64 `json:"ignored,omitempty"`
	// Stopped is the number of failed attempts that ended because their Job had ended.
	Stopped int64 `json:"stopped,omitempty"`
	// Retried is the number of failed attempts that were followed by another attempt, at the same index if the Job has indexes.
	// Recovered is the number of these whose next or a later attempt succeeded.
	Retried   int64 `json:"retried,omitempty"`
	Recovered int64 `json:"recovered,omitempty"`
	// Reserved sums the resources reserved by the failed attempts.
	Reserved Amounts `json:"reserved,omitempty"`
	// VainAttempts is the number of failed attempts that began after one of these failures, in lines that never succeeded. Vain
	// sums the resources they reserved.
	VainAttempts int64   `json:"vainAttempts,omitempty"`
	Vain         Amounts `json:"vain,omitempty"`
}

// Merge adds the counts of another cell.
func (c *Cell) Merge(other *Cell) {
	c.Attempts += other.Attempts
	c.Failed += other.Failed
	c.Jobs += other.Jobs
	c.Completed += other.Completed
	c.Ignored += other.Ignored
	c.Stopped += other.Stopped
	c.Retried += other.Retried
	c.Recovered += other.Recovered
	c.Reserved.Add(other.Reserved)
	c.VainAttempts += other.VainAttempts
	c.Vain.Add(other.Vain)
}

// add counts an attempt.
func (c *Cell) add(a *Attempt) {
	c.Attempts++
	if !a.Failed {
		return
	}
	c.Failed++
	c.Reserved.Add(a.Reserved)
	if a.Judged && a.Verdict.Terminal && !a.Verdict.Counted {
		c.Ignored++
	}
	if a.Stopped {
		c.Stopped++
	}
	if a.Later > 0 {
		c.Retried++
		if a.Recovered {
			c.Recovered++
		}
	}
}
