package analyst

// Settings returns the Analyst's configuration, including the defaults.
func (a *Analyst) Settings() Config { return a.cfg }
