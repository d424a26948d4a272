package changerate

// Pays tells whether a visit in so many days will be worth the price, if nothing more becomes known: whether DueIn is at
// most as long, without finding out how long it is.
func (f Forecast) Pays(price, days float64) bool { return f.ValueIn(days) >= price }

// ValueIn is what a visit in so many days will be worth, if nothing more becomes known; in fewer than 0, now.
func (f Forecast) ValueIn(days float64) float64 { return f.valueIn(max(0, days)) }
