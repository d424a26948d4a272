// Package importance says what pages are worth beside each other, from the links between them and from what the
// operator says. It is pure: it reads no database and no clock.
//
// # Links
//
// A page's rank is its PageRank (Brin & Page, "The anatomy of a large-scale hypertextual web search engine", WWW7,
// Computer Networks 30, 1998, section 2.1): where a reader who follows links at random, and goes to any page at all with
// probability 1 − d, would be found. With n pages, d = 0.85, out(j) the number of links of page j, and D the ranks of
// the pages without links added up, whose reader goes anywhere,
//
//	r(i) = (1 − d) + d·(Σ r(j)/out(j) over the pages j that link to i, + D/n)
//
// so that the ranks add up to n and their mean is 1. It is found by power iteration, each step of which shrinks the error
// by d or more. A link from a page to itself, or to or from a page that is not known, does not count. A page that neither
// links nor is linked to says nothing about its place: it is left out and keeps the factor 1.
//
// A start page to which each page of a site links has a rank in the thousands, so the rank is not the worth itself. The
// three things that tell a page's place without its text (PageRank, in-links, distance from the start: Craswell,
// Robertson, Zaragoza & Taylor, "Relevance weighting for query independent evidence", SIGIR 2005) are put together on a
// logarithmic scale, as there, the rank for half and the others for a quarter each:
//
//	factor = c · r^½ · (1 + in-links)^¼ · (1 + level)^−¼
//
// with c such that the mean factor of the pages with links is 1 too. The exponents are our choice.
//
// # Size
//
// A Graph takes 21 bytes a page and 4 bytes a link: 10,000,000 pages with 100,000,000 links are 610 MB. While it grows
// it holds at most a quarter more for the pages, and a megabyte for the links.
package importance
