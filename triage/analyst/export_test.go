package analyst

// Settings returns the configuration with its defaults.
func (a *Analyst) Settings() Config { return a.cfg }
