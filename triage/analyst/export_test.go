package analyst

// Settings returns the configuration of a, including its defaults.
func (a *Analyst) Settings() Config { return a.cfg }
