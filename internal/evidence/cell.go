package evidence

// Cell sums up attempts that have something in common, such as their node.
type Cell struct {
	// Attempts are those that have ended, and Failed those of them that failed.
	Attempts int64 `json:"attempts"`
	Failed   int64 `json:"failed"`
	// Jobs are the Jobs of the failed attempts, and Completed those of them that completed all the same.
	Jobs      int64 `json:"jobs"`
	Completed int64 `json:"completed,omitempty"`
	// Ignored are failed attempts that did not count.
	Ignored int64 `json:"ignored,omitempty"`
	// Stopped are failed attempts that ended because their Job had.
	Stopped int64 `json:"stopped,omitempty"`
	// Retried are failed attempts after which another one began, at the same index if there are indexes, and Recovered those of
	// them where it or a later one succeeded.
	Retried   int64 `json:"retried,omitempty"`
	Recovered int64 `json:"recovered,omitempty"`
	// Reserved is what the failed attempts had reserved.
	Reserved Amounts `json:"reserved,omitempty"`
	// VainAttempts are failed attempts that began after such a failure, where none succeeded in the end; Vain is what they had
	// reserved.
	VainAttempts int64   `json:"vainAttempts,omitempty"`
	Vain         Amounts `json:"vain,omitempty"`
}

// Merge adds what another cell has counted.
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
