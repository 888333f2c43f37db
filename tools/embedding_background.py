"""Texts that answer no question about an incident: what a relevant chunk must be nearer to a question than.

The cosine of unrelated texts depends on the model and on the languages of both (multilingual-e5: 0.77 for an English
question on Chinese text, 0.86 within Chinese), so a fixed floor would either let everything through or drop every hit
across languages. Nearer than all of these, in the chunk's own script, is a floor for any model.
"""

LATIN = (
    "The museum opens at nine in the morning and shows paintings of the nineteenth century from all over Europe.",
    "Fold the flour gently into the eggs and bake the cake for forty minutes until the top is golden brown.",
    "The river rises in the mountains, crosses three provinces and reaches the sea near an old harbour town.",
    "The team won the final in extra time after the captain scored twice in the second half of the match.",
    "The committee publishes a report every spring about schools, teachers and the budget of the city.",
    "Patients should rest, drink enough water and see a doctor if the fever lasts longer than three days.",
    "Every change needs a review by a second engineer; small commits with a clear message are easier to read.",
    "The rota names two people for each week. Swap shifts in the calendar and tell the other one beforehand.",
    "Ask the office manager for a laptop and a badge; access to further systems is requested through the portal.",
    "Names of services are written in lower case with hyphens, names of teams as they stand in the directory.",
    "The quarterly meeting is on the first Tuesday. Minutes and slides are kept in the shared folder for a year.",
    "This page lists the servers, databases and applications of the company with their owners and locations.",
)
CJK = (
    "博物馆早上九点开门,展出来自欧洲各地的十九世纪绘画作品,每周一闭馆。",
    "把面粉轻轻拌入打好的鸡蛋中,放进烤箱烤四十分钟,直到表面呈金黄色为止。",
    "这条河发源于山区,流经三个省份,最后在一座古老的港口城市附近注入大海。",
    "球队在决赛加时赛中获胜,队长在下半场攻入两球,赛后接受了记者采访。",
    "委员会每年春天发布一份报告,内容涉及学校、教师以及城市的财政预算。",
    "病人应当多休息、多喝水,如果发烧持续三天以上,就应该去看医生。",
    "每次改动都需要另一位工程师评审;提交要小,说明要清楚,方便以后阅读。",
    "值班表每周安排两个人。换班请在日历里修改,并提前告诉对方。",
    "电脑和门禁卡请找行政领取,其他系统的权限通过门户网站申请。",
    "服务名用小写字母和连字符,团队名以通讯录中的写法为准。",
    "季度会议在第一个星期二举行,会议纪要和幻灯片在共享文件夹里保存一年。",
    "本页列出公司的服务器、数据库和应用系统,以及各自的负责人和所在位置。",
)
