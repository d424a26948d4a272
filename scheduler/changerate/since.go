package changerate

// Since is the day on which the crowd's first page became known; 0: it knows none.
func (c *Crowd) Since() float64 { return c.begin }
