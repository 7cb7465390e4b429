"""Countries and their capitals, by region."""

REGIONS = (
    "France Paris, Germany Berlin, Spain Madrid, Italy Rome, "
    "Poland Warsaw, Sweden Stockholm, Hungary Budapest, Greece Athens",
    "Japan Tokyo, China Beijing, Thailand Bangkok, Vietnam Hanoi, "
    "Nepal Kathmandu, India New Delhi, Taiwan Taipei, Bangladesh Dhaka",
    "Turkey Ankara, Iran Tehran, Iraq Baghdad, Syria Damascus, "
    "Jordan Amman, Lebanon Beirut, Georgia Tbilisi, Armenia Yerevan",
    "Egypt Cairo, Kenya Nairobi, Nigeria Abuja, Ghana Accra, "
    "Morocco Rabat, Senegal Dakar, Zambia Lusaka, Uganda Kampala",
    "Canada Ottawa, Argentina Buenos Aires, Chile Santiago, Peru Lima, "
    "Cuba Havana, Ecuador Quito, Uruguay Montevideo, Venezuela Caracas",
)
"""Eight countries in each region, with their capitals."""
