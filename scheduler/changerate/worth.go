package changerate

// Pays tells whether a visit in so many days will be worth the price, if nothing more becomes known: whether DueIn is at
// most as long, without finding out how long it is.
func (f Forecast) Pays(price, days float64) bool { return f.valueIn(max(0, days)) >= price }
